/*
 * A cell is one deployment of this Worker, with a database, queue and bucket of its own. A router
 * in front of several reads a cell's name in credentials, cookies and paths.
 */

/** The cell whose name stands in nothing that it issues: the only one, or the first. */
export const mainCell = 'main';

export const cellName = /^[a-z][a-z0-9]{0,15}$/;

/** The cell named before the dot in a cookie or link; main if none is. */
export function cellIn(value: string): string {
  const name = value.split('.', 1)[0] ?? '';
  return value.includes('.') && cellName.test(name) ? name : mainCell;
}

/** The cells where an account may be that has left; in operators' requests, the one they mean. */
export const cellHeader = 'Fleet-Cell';

/** The response header with the id of the version of the Worker that responds. */
export const versionHeader = 'Worker-Version';

/** The response header of a cell whose account signs in by a provider of its own: the account's name, and where to. */
export const providerHeader = 'Fleet-Provider';

export type ByProvider = { account: string; to?: string };

/** Names can have any text, and headers cannot. */
export const encodeByProvider = (by: ByProvider): string => encodeURIComponent(JSON.stringify(by));
export const byProviderIn = ({ headers }: { headers: Headers }): ByProvider | undefined => {
  const text = headers.get(providerHeader);
  return text === null ? undefined : JSON.parse(decodeURIComponent(text)); // as a cell wrote it
};

/** The cells that a response names in that header. */
export const cellsNamed = ({ headers }: { headers: Headers }): string[] =>
  (headers.get(cellHeader) ?? '').split(',').flatMap((name) => name.trim() || []);

/** The name of a router's binding to a cell, such as `CELL_EU`. */
export const cellBinding = (cell: string): string => `CELL_${cell.toUpperCase()}`;

/** A router's cells, by their names, main first. */
export function boundCells<T>(bindings: object): Map<string, T> {
  const cells = Object.entries(bindings).flatMap(([name, cell]): [string, T][] =>
    name.startsWith('CELL_') ? [[name.slice('CELL_'.length).toLowerCase(), cell]] : [],
  );
  return new Map(cells.sort(([a], [b]) => Number(b === mainCell) - Number(a === mainCell)));
}

/** The header of a part of a move, which a router passes from one cell to the other. */
export const partHeader = 'Fleet-Move-Part';

/** The operator key of the cell that an account moves to; `Authorization` has the other's. */
export const toAuthorization = 'Fleet-To-Authorization';
