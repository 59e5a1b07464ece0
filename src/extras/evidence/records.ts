import type { NewEvidence } from '../../core/fleet/lists/field-objects.ts';
import { addEvidence, isAllowed } from './add.ts';
import { identityOf } from './link.ts';

/** What the write of records does with the files that accidents link to. */
export const evidenceOfRecords = { check: dropUnusableLinks, add: addEvidence };

type Accepted = {
  index: number;
  record: { kind: string; evidence?: NewEvidence[] | null | undefined };
};

/** Drops files at addresses that we may not call, and all but the last link to a file. */
function dropUnusableLinks(env: Env, accepted: Accepted[]) {
  return accepted.flatMap(({ index, record }) => {
    if (!record.evidence) return [];
    const allowed = record.evidence.filter(({ url }) => isAllowed(env, url));
    const files = [...new Map(allowed.map((file) => [identityOf(file), file])).values()];
    const problems = [
      allowed.length < record.evidence.length && 'must be a public address; it was dropped',
      files.length < allowed.length && 'leads to the same file as a later link, which replaced it',
    ];
    record.evidence = files;
    return problems.flatMap((message) =>
      message ? [{ index, field: 'evidence.url', message, severity: 'dropped' as const }] : [],
    );
  });
}
