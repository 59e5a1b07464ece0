import type * as jsx from 'hono/jsx';
// @ts-expect-error: a file without types. `hono/jsx` has the same, together with what renders in browsers.
import * as contexts from '../../../node_modules/hono/dist/jsx/context.js';

/** Values for the components within one, without passing them on. */
export const { createContext, useContext }: Pick<typeof jsx, 'createContext' | 'useContext'> = contexts;
