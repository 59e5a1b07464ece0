import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { dayMs } from '../../platform/durations.ts';

/** Files with the certificate and key of this machine, and with the local authority that signed it. */
export type Certificates = { certFile: string; keyFile: string; caFile: string };

/** Returns a certificate for localhost and 127.0.0.1, and its authority. Creates both in `directory` if needed. */
export async function certificates(directory: string): Promise<Certificates> {
  const files = {
    certFile: join(directory, 'localhost.pem'),
    keyFile: join(directory, 'localhost.key'),
    caFile: join(directory, 'ca.pem'),
  };
  if (Object.values(files).every((file) => existsSync(file))) return files;
  const notAfterDate = new Date(Date.now() + 5 * 365 * dayMs);
  const authority = await generate([{ name: 'commonName', value: 'Fleet Data Service, local' }], {
    notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const leaf = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
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
  writeFileSync(files.certFile, leaf.cert);
  writeFileSync(files.keyFile, leaf.private, { mode: 0o600 });
  writeFileSync(files.caFile, authority.cert);
  return files;
}
