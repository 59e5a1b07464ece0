import type { Operator } from '../../../cli/operate/client.ts';

/** Has the demo's account keep evidence. */
export async function keepEvidence(
  operator: Operator,
  { accountId: id }: { accountId: string },
  _: object,
  isNew: boolean,
): Promise<void> {
  if (isNew) await operator.call('PATCH /accounts/:id', { id, body: { evidenceDays: 90 } });
}
