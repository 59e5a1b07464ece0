import type { Asking } from './ask.ts';
import type { Kernel } from './kernel.ts';
import { type Account, type Connection, type Silence, Violation } from './model.ts';

const second = 1000;

export function operators(
  { now, below, sleep }: Kernel,
  { insist, must, operator }: Asking,
  everything: () => string[],
  connect: (accountId: string, provider: string) => Promise<Connection>,
) {
  return {
    async suspend(account: Account) {
      const suspension: Silence = { reason: 'suspended', done: Infinity, ended: Infinity };
      account.silences.push(suspension);
      await must('POST', `/operator/accounts/${account.id}/deletion`, operator, {
        name: account.name,
      });
      suspension.done = now();
      await sleep(below(120 * second));
      suspension.ended = now();
      await must('PATCH', `/operator/accounts/${account.id}`, operator, { status: 'active' });
    },

    /** Deletes a connection; what is left in the end is said by the audit log and the changes alone. */
    async disconnect(account: Account) {
      const connection = account.connections.shift();
      if (!connection) return;
      const silence: Silence = { reason: 'disconnected', done: Infinity, ended: Infinity };
      account.disconnected.set(connection.id, silence);
      for (const [id, { connectionId }] of account.records)
        if (connectionId === connection.id) account.records.delete(id);
      const path = `/operator/connections/${connection.id}/deletion`;
      const { tries, status, data } = await insist('POST', path, operator, {
        name: connection.provider,
      });
      if (status !== 200 && tries === 1)
        throw new Violation(`A connection is not deleted: ${status}`);
      silence.done = status === 200 ? now() : now() + 5 * second;
      for (let deletion = data?.deletion ?? {}; deletion; ) {
        await sleep(below(20 * second));
        const next = `/operator/deletions/${connection.id}/continue`;
        deletion = (await insist('POST', next, operator, {})).data?.deletion;
      }
      const isTrace = (row: string) =>
        row.includes(connection.id) && !/^(audit_log|changes) /.test(row);
      const traces = everything().filter(isTrace);
      if (traces.length > 0) throw new Violation(`A deleted connection has left ${traces[0]}`);
      account.connections.push(await connect(account.id, connection.provider));
    },

    async erase(account: Account) {
      const body = { name: account.name, now: true };
      const silence: Silence = { reason: 'deleted', done: Infinity, ended: Infinity };
      account.silences.push(silence);
      const { data } = await must(
        'POST',
        `/operator/accounts/${account.id}/deletion`,
        operator,
        body,
      );
      silence.done = now();
      account.gone = true;
      for (let { deletion } = data; deletion; ) {
        await sleep(below(20 * second));
        const path = `/operator/deletions/${account.id}/continue`;
        deletion = (await must('POST', path, operator, {})).data.deletion;
      }
      const traces = everything().filter(
        (row) => row.includes(account.id) && !row.startsWith('audit_log '),
      );
      if (traces.length > 0) throw new Violation(`A deleted account has left ${traces[0]}`);
    },
  };
}
