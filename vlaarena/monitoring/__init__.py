"""How the arena tells its operators how it is: log lines, figures for Prometheus, and the admin's status page."""
