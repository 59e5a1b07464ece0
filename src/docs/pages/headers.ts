const ownPagesOnly = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** Scalar adds style elements, and calls this host for the document and for requests that a reader tries out. */
const reference = [
  ...ownPagesOnly.filter((rule) => !/^(?:style|img)-src/.test(rule)),
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
];

/** The `_headers` file: what Cloudflare's static assets are served with. */
export const assetHeaders = (): string => `/*
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer

/docs
  Content-Security-Policy: ${ownPagesOnly.join('; ')}

/docs/*
  Content-Security-Policy: ${ownPagesOnly.join('; ')}

/docs/reference
  ! Content-Security-Policy
  Content-Security-Policy: ${reference.join('; ')}

# Asked for by its version.
/docs/standalone.js
  ! Cache-Control
  Cache-Control: public, max-age=31536000, immutable

/openapi.json
  Access-Control-Allow-Origin: *
`;
