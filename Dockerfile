# One image, two services: a server of the byte lane in a cloud account (docs/cloud.md), and the whole service on one machine
#   docker build -t stillage . && docker run -p 9000:9000 -v stillage:/data stillage
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY bin ./bin
COPY shared ./shared
COPY local ./local
COPY functions ./functions
COPY console ./console
# Bundles the programs and the console, and then forgets what is needed for that alone. What programs import has no use in an image.
RUN npm ci --ignore-scripts && node bin/build.mjs stillage digest-thread byte-lane cloud-scrub console && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY bin/node-version.cjs bin/stillage.cjs bin/byte-lane.mjs bin/cloud-scrub.mjs ./bin/
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The command that the service names: docker exec CONTAINER stillage env KEY --data /data
RUN ln -s /app/bin/stillage.cjs /usr/local/bin/stillage && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 9000
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9000/_stillage/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node"]
CMD ["bin/stillage.cjs", "start", "--host", "0.0.0.0", "--port", "9000", "--data", "/data"]
