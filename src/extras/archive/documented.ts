import type { Documented } from '../../docs/openapi/documented.ts';

export const documented: Documented = {
  words: {
    'ArchiveRepair.kind': 'The kind of records.',
    'ArchiveRepair.date': 'The day, UTC.',
    'ArchiveRepair.apply': 'Whether to repair; without it nothing changes.',
  },
};
