"""What is known of the agents before anything is started."""
