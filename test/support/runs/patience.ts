/**
 * How long is waited for what does not come, in milliseconds: longer than the busiest machine takes, so that only what hangs ends a test. A
 * time that is promised stands where it is tested.
 */
export const patience = 200_000;
