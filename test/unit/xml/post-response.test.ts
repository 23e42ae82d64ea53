import { expect, it } from 'vitest';
import { postResponse } from '../../../shared/xml/post-response.ts';
import { golden } from './golden.ts';

it('PostObject answers where the object is', () => {
  expect(postResponse({ location: 'http://s3.local/b/k%26', bucket: 'b', key: 'k&', etag: 'abc' })).toBe(golden`
    <PostResponse>
      <Location>http://s3.local/b/k%26</Location><Bucket>b</Bucket><Key>k&amp;</Key><ETag>&quot;abc&quot;</ETag>
    </PostResponse>`);
});
