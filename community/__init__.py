"""What people say about shared battles: comments, which moderators approve, and reports to moderators."""
