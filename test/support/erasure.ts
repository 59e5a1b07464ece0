import { rows, tableNames } from './rows.ts';
import { operator } from './world.ts';

/** Every text of every table that contains one of these, with the table's name in front. */
export async function findEverywhere(marks: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const table of await tableNames())
    for (const row of await rows(`select * from ${table}`)) {
      const text = JSON.stringify(row).toLowerCase();
      if (marks.some((mark) => text.includes(mark.toLowerCase()))) found.push(`${table} ${text}`);
    }
  return found;
}

/** Goes on with a deletion as the tool does. */
export async function toTheEnd(id: string): Promise<void> {
  let last: object = {};
  for (let calls = 0; calls < 50; calls++) {
    const path = `/operator/deletions/${id}/continue`;
    const { data } = await operator.post<{ deletion: object | null }>(path, {});
    if (data.deletion === null) return;
    last = data.deletion;
  }
  throw new Error(`the deletion does not end: ${JSON.stringify(last)}`);
}
