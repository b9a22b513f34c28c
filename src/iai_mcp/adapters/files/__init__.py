"""Plain files: projects, profiles, manifests, contexts, templates and skills."""
