import { ApiError } from '../client.ts';

/** The outcome of one call. */
export type CallResult = {
  accepted: number;
  unchanged: number;
  rejected: { index: number; message: string }[];
};

const maxTries = 8;

/**
 * Sends one call of records. Repeats it when the service is busy (429 and 503, after `Retry-After`) or out of
 * reach, which is safe: a repeated call changes nothing.
 *
 * @throws ApiError when the whole call is refused, or still fails at the eighth try
 */
export async function sendRecords(
  baseUrl: string,
  ingestKey: string,
  records: unknown[],
  notify: boolean,
): Promise<CallResult> {
  const body = JSON.stringify({ records, notify });
  const headers = { 'x-api-key': ingestKey, 'content-type': 'application/json' };
  for (let tries = 1; ; tries++) {
    const response = await fetch(`${baseUrl}/ingest`, { method: 'POST', headers, body }).catch(
      () => undefined,
    );
    if (response?.ok) return ((await response.json()) as { data: CallResult }).data; // the envelope
    const temporary = !response || [429, 502, 503, 504].includes(response.status);
    if (!temporary || tries === maxTries) {
      const reason = response ? `status ${response.status}` : 'out of reach';
      throw new ApiError(`The service refused a call: ${reason}. Run the import again to continue.`);
    }
    await response?.body?.cancel();
    const asked = Number(response?.headers.get('retry-after'));
    await new Promise((on) => setTimeout(on, asked > 0 ? asked * 1000 : 250 * 2 ** tries));
  }
}
