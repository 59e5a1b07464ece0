// Everything that Scalar offers beyond showing the document is off: nothing leaves for another host.
Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  theme: 'none',
  authentication: { preferredSecurityScheme: 'ApiToken' },
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  hideDarkModeToggle: true,
  hideSearch: true, // the one in the page's head finds operations too
  darkMode: matchMedia('(prefers-color-scheme: dark)').matches,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  defaultOpenAllTags: true,
  persistAuth: false,
});

// Scalar leaves two kinds of its controls without a name, and one with a role that it does not play.
const controls = () => {
  for (const button of document.querySelectorAll('#reference button[class*="copy-button"]:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy');
  for (const field of document.querySelectorAll('#reference [role="combobox"][contenteditable]')) {
    field.setAttribute('role', 'textbox');
    field.setAttribute('aria-label', field.dataset.placeholder);
  }
};
new MutationObserver(controls).observe(document.getElementById('reference'), {
  childList: true,
  subtree: true,
});
