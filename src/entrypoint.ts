import { WorkerEntrypoint } from 'cloudflare:workers';
import type * as v from 'valibot';
import { app } from './app.ts';
import type { FieldError } from './errors.ts';
import type { IngestRecord, Outcome } from './ingest/schema.ts';

/** What a connector sends in, as `POST /ingest` takes it. */
export type IngestBatch = { records: v.InferInput<typeof IngestRecord>[]; notify?: boolean };

/** What `POST /ingest` answers: the envelope of spec 2.1, or that of a failure (design 5). */
export type IngestReply =
  | { status: 200; message: string; data: Outcome }
  | {
      status: 400 | 401 | 403 | 413 | 429 | 500 | 503;
      message: string;
      requestId: string;
      errors?: FieldError[];
      /** Seconds. */
      retryAfter?: number;
    };

/**
 * What connectors that are Workers of the same Cloudflare account bind to, as a service binding with
 * `entrypoint = "Ingest"`.
 */
export class Ingest extends WorkerEntrypoint<Env> {
  /**
   * Takes in up to 500 records under an ingest key (design 8). It is the route itself that answers, so that
   * whatever holds for one holds for the other. Never throws for a refusal: that is a reply.
   */
  async records(ingestKey: string, batch: IngestBatch): Promise<IngestReply> {
    const request = new Request('https://ingest.internal/ingest', {
      method: 'POST',
      headers: { 'x-api-key': asHeader(ingestKey), 'content-type': 'application/json' },
      body: JSON.stringify(batch) ?? '',
    });
    const reply = await app.fetch(request, this.env, this.ctx);
    return reply.json();
  }
}

/** What no header can hold is no ingest key either. */
const asHeader = (key: unknown): string => (/^[!-~]+$/.test(String(key)) ? String(key) : '');
