/*
 * A cell is one deployment of this Worker, with a database, queue and bucket of its own. A router
 * in front of several reads a cell's name in credentials, cookies and paths.
 */

/** The cell whose name stands in nothing that it issues: the only one, or the first. */
export const mainCell = 'main';

export const cellName = /^[a-z][a-z0-9]{0,15}$/;

/** The cells where an account may be that has left; in operators' requests, the one they mean. */
export const cellHeader = 'Fleet-Cell';

/** The response header with the id of the version of the Worker that responds. */
export const versionHeader = 'Worker-Version';

/** The header of a part of a move, which a router passes from one cell to the other. */
export const partHeader = 'Fleet-Move-Part';
