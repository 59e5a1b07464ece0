import type { Extra } from '../extra.ts';
import { checkDomains } from './dns.ts';
import { handlers } from './handlers.ts';
import { pages } from './pages/pages.ts';
import { provenDomains, takenDomain, unlessOnlyByLink } from './single-sign-on.ts';
import { signInDomains, singleSignOn } from './tables.ts';

export const extra: Extra = {
  handlers,
  pages,
  people: { changed: unlessOnlyByLink },
  jobs: {
    /** 20 domains a step; each once a week, or once a day while its record is not found; 10 domains. */
    'check sign-in domains': { run: checkDomains },
  },
  tables: [signInDomains.accountId, singleSignOn.accountId],
  unique: {
    column: 'sign_in_domains.domain',
    find: provenDomains,
    findTaken: takenDomain,
    problem: (cell, domain) =>
      `Another account in ${cell} has proven the domain ${domain}. Have one of both remove it under Settings → Sign-in.`,
  },
  encrypted: [{ table: singleSignOn, id: singleSignOn.accountId, columns: [singleSignOn.secret] }],
};
