"""How much more a cross-validated score errs than a bootstrap shows, and how published intervals do there."""
