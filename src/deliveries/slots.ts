/** Lanes of one account that may work in an isolate at the same time. */
export const maxLanes = 120;

type Slots = { working: number; waiting: Set<() => void> };

const byAccount = new Map<string, Slots>();

/**
 * Runs `work` with one of the account's slots in this isolate. When all are taken it waits its turn, `patienceMs` at
 * most, so that whatever one account has to deliver, the others find D1 and the network free. Returns false, without
 * having run `work`, if no slot became free.
 */
export async function withSlot(
  accountId: string,
  patienceMs: number,
  work: () => Promise<void>,
): Promise<boolean> {
  const slots = byAccount.get(accountId) ?? { working: 0, waiting: new Set() };
  byAccount.set(accountId, slots);
  if (slots.working >= maxLanes && !(await turn(slots, patienceMs))) return false;
  slots.working++;
  try {
    await work();
  } finally {
    slots.working--;
    const [next] = slots.waiting;
    if (next) next();
    else if (slots.working === 0) byAccount.delete(accountId);
  }
  return true;
}

/** Whether other lanes of the account wait for a slot in this isolate. */
export const isContended = (accountId: string): boolean => (byAccount.get(accountId)?.waiting.size ?? 0) > 0;

/** Waits to be called, in order of arrival. */
async function turn({ waiting }: Slots, patienceMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const next = () => resolve(true);
  waiting.add(next);
  const inTime = await Promise.race([promise, scheduler.wait(patienceMs).then(() => false)]);
  waiting.delete(next);
  return inTime;
}
