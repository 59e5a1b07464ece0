import { csvHead, csvLines, flatColumns } from '../../fleet/lists/csv.ts';
import { safetyEvents } from '../../fleet/lists/safety-events.ts';
import { type ListRequest, readList } from '../../fleet/service.ts';
import type { Caller } from '../../platform/db/guard.ts';
import type { Context } from '../../platform/http/context.ts';

/** How many events a CSV file has at most. */
export const maxCsvEvents = 100_000;

/** With filters that let little pass, a page has few events: D1 takes 1,000 queries of a request, two for each page. */
const maxPages = 400;

const perPage = 500;

/** The last line of a file that does not have all. */
const cutShort = 'There are more events. Choose a shorter period to get the rest.\r\n';

/**
 * The events that a page's filters select, newest first, as a CSV file that is sent while it is read, page by page: no
 * faster than the browser takes it. The session is checked with each page; if it ends, so does the file, as a failure.
 * Without a request, when nothing can match, it has its head alone.
 */
export function eventsCsv(c: Context, request: ListRequest | undefined): Response {
  const body = new ReadableStream<Uint8Array>(linesOf(c.env, c.get('caller'), request));
  c.header('Content-Type', 'text/csv; charset=utf-8; header=present');
  c.header('Content-Disposition', 'attachment; filename="safety-events.csv"');
  return c.body(body);
}

function linesOf(env: Env, caller: Caller, request: ListRequest | undefined): UnderlyingSource<Uint8Array> {
  const columns = flatColumns(safetyEvents.itemCells);
  const encoder = new TextEncoder();
  let [left, pages] = [maxCsvEvents, maxPages];
  let cursor: string | undefined;
  return {
    start: (file) => file.enqueue(encoder.encode(csvHead(columns))),
    async pull(file) {
      if (!request) return file.close();
      const { items, next } = await readList(env, caller, safetyEvents.list, {
        ...request,
        query: {
          ...request.query,
          limit: [String(Math.min(perPage, left))],
          ...(cursor && { cursor: [cursor] }),
        },
      });
      left -= items.length;
      pages--;
      cursor = next;
      file.enqueue(encoder.encode(csvLines(columns, items)));
      if (next && left > 0 && pages > 0) return;
      if (next) file.enqueue(encoder.encode(cutShort));
      file.close();
    },
  };
}
