// Everything that Scalar offers beyond showing the document is off: nothing leaves for another host.
Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  authentication: { preferredSecurityScheme: 'ApiToken' },
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  hideDarkModeToggle: true,
  darkMode: matchMedia('(prefers-color-scheme: dark)').matches,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  defaultOpenAllTags: true,
  persistAuth: false,
});
