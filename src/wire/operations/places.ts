import { create, get, type Operation, patch, remove } from '../operation.ts';

/** Venues and screens (docs/protocol.md §5.3). */
export const placesOperations = {
  createVenue: create('/v1/venues', 'operator', {
    summary: 'Make a venue',
    wholeTenant: true,
    body: 'venueCreation',
    answer: 'venue',
    errors: ['name_taken'],
    command: ['venue', 'create'],
  }),
  listVenues: get('/v1/venues', 'viewer', {
    summary: 'Venues',
    query: 'venueQuery',
    answer: 'venueList',
    command: ['venue', 'list'],
  }),
  getVenue: get('/v1/venues/:id', 'viewer', {
    summary: 'One venue',
    record: 'venue',
    answer: 'venue',
    command: ['venue', 'get'],
  }),
  updateVenue: patch('/v1/venues/:id', 'operator', {
    summary: 'Change a venue',
    record: 'venue',
    body: 'venuePatch',
    answer: 'venue',
    errors: ['name_taken'],
    command: ['venue', 'update'],
  }),
  deleteVenue: remove('/v1/venues/:id', 'operator', {
    summary: 'Delete a venue that has no screens',
    record: 'venue',
    errors: ['venue_not_empty'],
    command: ['venue', 'delete'],
  }),
  createScreen: create('/v1/screens', 'operator', {
    summary: 'Make a screen in a venue',
    body: 'screenCreation',
    answer: 'screen',
    errors: ['venue_not_found', 'name_taken'],
    command: ['screen', 'create'],
  }),
  listScreens: get('/v1/screens', 'viewer', {
    summary: 'Screens',
    query: 'screenQuery',
    answer: 'screenList',
    command: ['screen', 'list'],
  }),
  getScreen: get('/v1/screens/:id', 'viewer', {
    summary: 'One screen',
    record: 'screen',
    answer: 'screen',
    command: ['screen', 'get'],
  }),
  updateScreen: patch('/v1/screens/:id', 'operator', {
    summary: 'Change a screen',
    record: 'screen',
    body: 'screenPatch',
    answer: 'screen',
    errors: ['name_taken'],
    command: ['screen', 'update'],
  }),
  deleteScreen: remove('/v1/screens/:id', 'operator', {
    summary: 'Delete a screen; with force=true an active one, with its device',
    record: 'screen',
    query: 'screenDeletionQuery',
    errors: ['screen_active'],
    command: ['screen', 'delete'],
  }),
} satisfies Record<string, Operation>;
