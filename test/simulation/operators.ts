import type { Asking } from './ask.ts';
import type { Kernel } from './kernel.ts';
import { type Account, type Connection, type Silence, Violation } from './model.ts';

export function operators(
  { now, below, sleep }: Kernel,
  { insist, operate }: Asking,
  everything: () => string[],
  connect: (accountId: string, provider: string) => Promise<Connection>,
) {
  const silence = (reason: Silence['reason']): Silence => ({
    reason,
    done: Infinity,
    ended: Infinity,
  });
  /** Goes on with a deletion until it is done. */
  const finish = async (id: string, deletion: unknown, ask?: typeof insist) => {
    for (let left = deletion; left; ) {
      await sleep(below(20_000));
      left = (await operate(`/deletions/${id}/continue`, {}, 'POST', ask)).data?.deletion;
    }
  };
  const checkTraces = (id: string, allowed: RegExp) => {
    const trace = everything().find((row) => row.includes(id) && !allowed.test(row));
    if (trace) throw new Violation(`What was deleted has left ${trace}`);
  };

  return {
    async suspend(account: Account) {
      const suspension = silence('suspended');
      account.silences.push(suspension);
      const path = `/accounts/${account.id}`;
      await operate(`${path}/deletion`, { name: account.name });
      suspension.done = now();
      await sleep(below(120_000));
      suspension.ended = now();
      await operate(path, { status: 'active' }, 'PATCH');
    },

    /** Deletes a connection; what is left in the end is said by the audit log and the changes alone. */
    async disconnect(account: Account) {
      const connection = account.connections.shift();
      if (!connection) return;
      const { id, provider } = connection;
      const disconnected = silence('disconnected');
      account.disconnected.set(id, disconnected);
      for (const [record, { connectionId }] of account.records)
        if (connectionId === id) account.records.delete(record);
      const body = { name: provider };
      const reply = await operate(`/connections/${id}/deletion`, body, 'POST', insist);
      const { tries, status, data } = reply;
      if (status !== 200 && tries === 1)
        throw new Violation(`A connection is not deleted: ${status}`);
      disconnected.done = now() + (status === 200 ? 0 : 5000);
      await finish(id, data?.deletion ?? {}, insist);
      checkTraces(id, /^(audit_log|changes) /);
      account.connections.push(await connect(account.id, provider));
    },

    async erase(account: Account) {
      const deleted = silence('deleted');
      account.silences.push(deleted);
      const body = { name: account.name, now: true };
      const { data } = await operate(`/accounts/${account.id}/deletion`, body);
      deleted.done = now();
      account.gone = true;
      await finish(account.id, data.deletion);
      checkTraces(account.id, /^audit_log /);
    },
  };
}
