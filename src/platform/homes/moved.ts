/** Where accounts live that have moved to another home, as far as this isolate has noticed. */
const moved = new Map<string, string>();
const maxMoved = 10_000;

/** Remembers in which home an account lives, whose credentials name another. */
export function noteMoved(accountId: string, home: string): void {
  if (moved.size >= maxMoved) moved.clear();
  moved.set(accountId, home);
}

/** The home that an account is known to have moved to. */
export const movedTo = (accountId: string): string | undefined => moved.get(accountId);
