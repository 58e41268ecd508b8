"""Games while they are played: what the process that plays them tells, and the socket that passes it on."""
