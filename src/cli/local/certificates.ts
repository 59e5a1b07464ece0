import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { dayMs } from '../../core/platform/durations.ts';

/** Files with the certificate and key of this machine, and with its authority: itself. */
export type Certificates = { certFile: string; keyFile: string; caFile: string };

/** Returns a certificate for localhost and 127.0.0.1. Creates it in `directory` if needed. */
export async function certificates(directory: string): Promise<Certificates> {
  const certFile = join(directory, 'localhost.pem');
  const files = { certFile, keyFile: join(directory, 'localhost.key'), caFile: certFile };
  if (existsSync(certFile) && existsSync(files.keyFile)) return files;
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate: new Date(Date.now() + 5 * 365 * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      {
        name: 'keyUsage',
        keyCertSign: true,
        digitalSignature: true,
        keyEncipherment: true,
        critical: true,
      },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  writeFileSync(certFile, cert);
  writeFileSync(files.keyFile, key, { mode: 0o600 });
  return files;
}
