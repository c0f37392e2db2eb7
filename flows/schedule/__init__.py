"""Nightly runs on a schedule: cron expressions, systemd units, crontabs and a served flow."""
