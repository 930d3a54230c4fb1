import type { Services } from '../../service/assembly/services.ts';
import type { Handlers } from '../request/pipeline.ts';
import { uploadBody } from '../request/upload-body.ts';

/** Handlers of media (docs/protocol.md §5.14). */
export function mediaHandlers({ media, mediaUploads }: Services) {
  return {
    async putMedia({ principal, id, query, request }) {
      const uploaded = await mediaUploads.put(principal, id, query, uploadBody(request));
      if ('received' in uploaded) return { status: 202, body: uploaded };
      const { record, isNew } = uploaded;
      const headers = { Location: `/v1/media/${id}` };
      return isNew ? { body: record, headers } : { status: 200, body: record };
    },
    getMediaUpload: async ({ principal, id, slot }) => ({
      body: await mediaUploads.upload(principal, id, slot?.signal),
    }),
    listMedia: async ({ principal, query, slot }) => ({
      body: await media.list(principal, query, slot?.signal),
    }),
    getMedia: async ({ principal, id }) => ({ body: await media.get(principal, id) }),
    async deleteMedia({ principal, id, query }) {
      await media.remove(principal, id, query.force === true);
      return {};
    },
  } satisfies Partial<Handlers>;
}
