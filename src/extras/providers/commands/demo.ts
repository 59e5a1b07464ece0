import type { Operator } from '../../../cli/operate/client.ts';

/** Lets a connection pull from the demo's provider, whose port may be another, and be called by it. */
export async function connectProvider(
  operator: Operator,
  { connections: [, pulled] }: { connections: { id: string }[] },
  provider: { credential: string; url: string; secret: string },
  isNew: boolean,
): Promise<void> {
  const { credential, url: baseUrl, secret } = provider;
  const id = pulled?.id ?? '';
  if (!isNew)
    await operator.call('PUT /connections/:id/credential', { id, body: { credential, baseUrl } });
  await operator.call('PUT /connections/:id/webhook-secret', { id, body: { secret } });
}
