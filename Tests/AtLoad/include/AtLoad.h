/// Called when the tests are loaded, before any of them runs.
void skynet_at_load(void);
