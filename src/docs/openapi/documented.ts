import type * as v from 'valibot';
import type { Json, Texts } from './components.ts';
import type { Operations, Refusals } from './document.ts';

/** What an extra adds to the documents, in its `documented.ts`. `src/docs/openapi/extras.ts` lists them. */
export type Documented = Partial<Texts> & {
  /** Operations of the client API by tag. */
  operations?: { [tag: string]: Operations };
  /** Its own tags, each with a description. */
  tags?: { [tag: string]: string };
  /** Components of the client API. */
  schemas?: Record<string, v.GenericSchema>;
  /** Items that have more than their list shows: the component, and what it adds. */
  detailed?: { [item: string]: [component: string, adds: string] };
  /** How a webhook is refused because of its option. */
  refusals?: Refusals;
  /** Headers of a delivery. */
  headers?: Json[];
  /** What operators and others call besides its `operations.ts`, by tag. */
  ofOperators?: { [tag: string]: Operations };
};
