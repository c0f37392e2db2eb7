"""What Hugo makes of shortcodes: those that it comes with, those of themes, and a site's own."""
