/* Where the service stops counting: such a count means that many or more. */

export const maxAccountsCounted = 10_000;
export const maxPendingCounted = 10_000;
export const maxFailedCounted = 100;
