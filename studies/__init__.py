"""Studies that signed-in researchers ask for on the site. `robots.studies` plays the pairs and says what they mean."""
