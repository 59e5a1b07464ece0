import './extras/options.ts';

import { extra as alerts } from './extras/alerts/extra.ts';
import { extra as archive } from './extras/archive/extra.ts';
import { extra as changes } from './extras/changes/extra.ts';
import { extra as connectorProblems } from './extras/connector-problems/extra.ts';
import { extra as deliveryLog } from './extras/delivery-log/extra.ts';
import { extra as dryRuns } from './extras/dry-runs/extra.ts';
import { extra as evidence } from './extras/evidence/extra.ts';
import { extra as exports } from './extras/exports/extra.ts';
import { extra as externalIds } from './extras/external-ids/extra.ts';
import type { Extra } from './extras/extra.ts';
import { extra as filters } from './extras/filters/extra.ts';
import { extra as oauth } from './extras/oauth/extra.ts';
import { extra as providers } from './extras/providers/extra.ts';
import { extra as replicas } from './extras/replicas/extra.ts';
import { extra as search } from './extras/search/extra.ts';
import { extra as signing } from './extras/signing/extra.ts';
import { extra as singleSignOn } from './extras/single-sign-on/extra.ts';
import { extra as summaries } from './extras/summaries/extra.ts';
import { extra as trends } from './extras/trends/extra.ts';
import { extra as why } from './extras/why/extra.ts';

/** The extras by name, in the order of their routes, jobs, tables and steps of deletions. */
export const extras: { [name: string]: Extra } = {
  providers,
  singleSignOn,
  alerts,
  archive,
  exports,
  evidence,
  changes,
  filters,
  signing,
  oauth,
  deliveryLog,
  dryRuns,
  externalIds,
  connectorProblems,
  replicas,
  summaries,
  trends,
  search,
  why,
};

/** What the extras declare of one thing, those that have it. */
export const declared = <Part extends keyof Extra>(
  part: Part,
  all = extras,
): NonNullable<Extra[Part]>[] =>
  Object.values(all).flatMap((extra) => {
    const { [part]: found } = extra;
    return found === undefined ? [] : [found];
  });
