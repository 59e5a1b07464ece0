/* Where counting stops: a count that reaches one means that many or more. */

export const maxAccountsCounted = 10_000;
export const maxPendingCounted = 10_000;
export const maxListed = 20;
export const maxFailedCounted = 100;
