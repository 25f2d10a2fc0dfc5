# syntax=docker/dockerfile:1
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --bin hierad && cp target/release/hierad /hierad

FROM debian:bookworm-slim
# For levels that get their data from other servers over HTTPS.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin hierad
COPY --from=build /hierad /usr/local/bin/hierad
# The sample. Mount a directory with your own hierad.yaml over it, read-only.
COPY config /etc/hierad
USER 10001
ENV HIERAD_LISTEN=0.0.0.0:8080
EXPOSE 8080
# No HEALTHCHECK: orchestrators check /livez and /readyz themselves.
ENTRYPOINT ["hierad"]
CMD ["serve"]
