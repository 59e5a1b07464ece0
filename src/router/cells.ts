import { cellHeader, cellName, mainCell } from '../core/platform/cells.ts';

/** The cell named before the dot in a cookie or link; main if none is. */
export function cellIn(value: string): string {
  const name = value.split('.', 1)[0] ?? '';
  return value.includes('.') && cellName.test(name) ? name : mainCell;
}

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

/** The operator key of the cell that an account moves to; `Authorization` has the other's. */
export const toAuthorization = 'Fleet-To-Authorization';
