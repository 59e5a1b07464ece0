import { rows, tableNames } from './rows.ts';

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
