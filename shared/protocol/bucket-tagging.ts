import type { Attributes } from '../ports/key-value-table.ts';
import type { Tag } from '../xml/tagging.ts';

/** Returns the attributes of a bucket's document `tagging`. */
export function taggingOf(tags: readonly Tag[]): Attributes {
  return { tags: tags.map(({ key, value }) => [key, value]) };
}

/** Reads the tags from the attributes that {@link taggingOf} returns. */
export function tagsOf({ tags }: Attributes): readonly Tag[] {
  return (tags as readonly (readonly [key: string, value: string])[]).map(([key, value]) => ({ key, value }));
}
