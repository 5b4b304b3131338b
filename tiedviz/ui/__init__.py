"""What several pages draw: the sidebar, the prompt bar, the export corner."""
