import { extra as cells } from '../extras/cells/operator.ts';
import type { Extra } from '../extras/extra.ts';
import { extras } from '../extras.ts';

/** All extras, also those that are made of what is here. */
export const allExtras: { [name: string]: Extra } = {
  ...extras,
  cells,
};
