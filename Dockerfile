# syntax=docker/dockerfile:1
# Pinned by digest. `docker buildx imagetools inspect node:24-bookworm-slim` prints that of a newer release.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The image contains Node, so the npm package `node` is omitted, like all development packages.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node node_modules/.bin/node

# The validators, the reference pages and the dashboard are built with the development packages, which the image does not
# contain.
FROM ${NODE_IMAGE} AS built
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY clients/dashboard/package.json clients/dashboard/
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY clients clients
COPY generated generated
COPY openapi openapi
COPY src src
RUN npm run prepare

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY --from=built /app/dist dist
COPY generated generated
COPY src src
# Runs with a read-only root file system: all data is in MongoDB and S3. So it needs MONGODB_URI, S3_BUCKET and
# SECRETS_KEY. If one of them is missing, it prints which one and stops.
USER node
EXPOSE 8080
# The process finishes requests in progress, for up to 75 s (SHUTDOWN_TIMEOUT_MS): `docker stop --time 90`.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "src/server.ts"]
