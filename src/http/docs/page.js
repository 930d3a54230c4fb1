// validatorUrl: no validator badge, which would send the URL of the document to another host.
// presets: no top bar, which loads other documents.
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
});
