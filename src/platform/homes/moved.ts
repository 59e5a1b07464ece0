/** The homes of accounts that have moved, as far as this isolate has noticed. */
const moved = new Map<string, string>();
const maxMoved = 10_000;

/** Remembers the home of an account whose credentials name another. */
export function noteMoved(accountId: string, home: string): void {
  if (moved.size >= maxMoved) moved.clear();
  moved.set(accountId, home);
}

/** The home that an account is known to have moved to. */
export const movedTo = (accountId: string): string | undefined => moved.get(accountId);
