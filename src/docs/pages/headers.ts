const ownPagesOnly = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** The `_headers` file of Cloudflare's static assets. */
export const assetHeaders = (): string => `/*
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer

/docs
  Content-Security-Policy: ${ownPagesOnly.join('; ')}

/docs/*
  Content-Security-Policy: ${ownPagesOnly.join('; ')}

# After a deploy, a page can have the stylesheet of before for five minutes.
/design/*
  ! Cache-Control
  Cache-Control: public, max-age=300

# A font of before is as good: characters that it lacks are shown in the reader's own.
/design/geist.woff2
  ! Cache-Control
  Cache-Control: public, max-age=2592000

/design/geist-mono.woff2
  ! Cache-Control
  Cache-Control: public, max-age=2592000

# To be saved, under its name.
/docs/fleet-data-service.openapi.json
  Content-Disposition: attachment

/openapi.json
  Access-Control-Allow-Origin: *
`;
