"""The warehouse's SQL, one statement a file: `views/`, `audits/` and `macros/`. No Python belongs here."""
