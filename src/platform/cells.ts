/*
 * A cell is one deployment of this Worker, with a database, queue and bucket of its own. A team that has several puts a
 * router in front of them, which reads a cell's name in credentials, cookies and paths.
 */

/** The cell whose name stands in nothing that it issues: the only one, or the first. */
export const mainCell = 'main';

/** The form of a cell's name. */
export const cellName = /^[a-z][a-z0-9]{0,15}$/;

/** The response header of a cell that an account has left: the names of cells where it may be, separated by commas. */
export const cellHeader = 'Fleet-Cell';
