"""What members are told outside the server: by mail, browser, feed and calendar."""
