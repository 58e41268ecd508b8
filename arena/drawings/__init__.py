"""What workers draw of recorded attempts after the vote: pictures, strips, previews, videos (decision: drawings)."""
