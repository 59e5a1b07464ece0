import {
  exportInProgress,
  maxExportsPerDay,
  tooManyExports,
} from '../../extras/exports/exports.ts';
import { ExportInput } from '../../extras/exports/schema.ts';
import { ref } from './components.ts';
import type { Operation, Operations } from './document.ts';
import { emptyRange, idParameter, refused, unknownId } from './lists.ts';
import { failing } from './responses.ts';

const parameters = [{ written: idParameter("The export's id.", 'DataExport') }];

const exportReply = (message: string) => ({
  name: 'ExportReply',
  message,
  data: ref('DataExport'),
});

const { lists, formats, from, to } = ExportInput.entries;

const requestExport: Operation = {
  call: 'post /exports',
  summary: 'Export lists as files',
  description:
    `Prepares files of whole lists, for seven days. An account can have one in preparation, and ${maxExportsPerDay} a day. ` +
    'Deleting a connection or erasing a driver deletes all exports of the account.',
  body: 'ExportInput',
  reply: exportReply('Export requested'),
  refusals: [
    refused('lists', lists, ['?']),
    refused('formats', formats, ['?']),
    refused('from', from, '?'),
    refused('to', to, '?'),
    emptyRange,
    exportInProgress,
    tooManyExports,
  ],
};

const getExportFile: Operation = {
  call: 'get /exports/{id}/files/{name}',
  summary: 'Download a file of an export',
  description: 'A file of an export that is `ready`.',
  parameters: [
    ...parameters,
    {
      written: {
        name: 'name',
        in: 'path',
        required: true,
        description: 'The `name` of one of its `files`.',
        schema: { type: 'string' },
        example: 'trips.csv',
      },
    },
  ],
  reply: { file: 'The file.' },
  others: {
    404: failing(404, 'Your account has no such file, or the export is not ready.', [
      'File not found',
    ]),
  },
};

/** Lists as files. */
export const exportOperations: Operations = {
  requestExport,
  listExports: {
    call: 'get /exports',
    summary: 'List exports',
    description:
      'The exports of your account that have not expired, newest first, on one page. A token that is limited to ' +
      'connections sees its own only.',
    reply: {
      name: 'ExportsReply',
      message: 'Exports',
      data: { type: 'array', items: ref('DataExport') },
    },
  },
  getExport: {
    call: 'get /exports/{id}',
    summary: 'Get one export',
    description: 'As the list shows it. Its `files` are listed once it is `ready`.',
    parameters,
    reply: exportReply('Export'),
    others: unknownId('export'),
  },
  getExportFile,
};
