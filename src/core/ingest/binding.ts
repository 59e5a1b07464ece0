import { WorkerEntrypoint } from 'cloudflare:workers';
import type * as v from 'valibot';
import type { FieldError } from '../platform/errors.ts';
import type { IngestOutcome, IngestRecord } from './schema.ts';

export type IngestBatch = {
  records: v.InferInput<typeof IngestRecord>[];
  notify?: boolean;
  dryRun?: boolean;
};

/** What `POST /ingest` returns: the envelope of a success or a failure. */
export type IngestReply =
  | { status: 200; message: string; data: IngestOutcome }
  | {
      status: 400 | 401 | 403 | 413 | 421 | 429 | 500 | 503;
      message: string;
      requestId: string;
      errors?: FieldError[];
      /** Seconds. */
      retryAfter?: number;
    };

/** The entrypoint for connectors that are Workers of the same Cloudflare account. */
export const ingestBinding = (
  serve: (request: Request, env: Env, context: ExecutionContext) => Response | Promise<Response>,
) =>
  class extends WorkerEntrypoint<Env> {
    /** Accepts up to 500 records as HTTP calls do. Returns a refusal instead of throwing it. */
    async records(ingestKey: string, batch: IngestBatch): Promise<IngestReply> {
      const request = new Request('https://ingest.internal/ingest', {
        method: 'POST',
        headers: { 'x-api-key': asHeader(ingestKey), 'content-type': 'application/json' },
        body: JSON.stringify(batch) ?? '',
      });
      const reply = await serve(request, this.env, this.ctx);
      return reply.json();
    }
  };

/** Replaces what no header can contain. */
const asHeader = (key: unknown): string => (/^[!-~]+$/.test(String(key)) ? String(key) : '');
